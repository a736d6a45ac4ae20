"""Draw docs/images/comparison.svg from the first table under "How good they are" in docs/comparison.md.

python docs/make_comparison.py
"""

from pathlib import Path

DOCS = Path(__file__).parent
SHOWN = {"handful 0.2.0, with text": "#0072b2", "gliner-bi-base-v2": "#d55e00"}
WIDTH, HEIGHT, TOP, LEFT, BAR = 760, 300, 46, 40, 34
STYLE = 'font-family="system-ui, sans-serif" font-size="13"'


def table() -> tuple[list[str], dict[str, list[float]]]:
    """Return the corpora, and the figures of each row that is shown."""
    part = (DOCS / "comparison.md").read_text(encoding="utf-8").split("## How good they are")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    figures = {row[0]: [float(cell) for cell in row[1:]] for row in rows if row[0] in SHOWN and all(row[1:])}
    return rows[0][1:], figures


def draw() -> str:
    """Return the picture: for each corpus a bar of each tool, from 0 to 100; grey text reads on light and on dark."""
    corpora, figures = table()
    floor = HEIGHT - 34
    step = (WIDTH - LEFT) / len(corpora)
    parts = []
    for i, (name, colour) in enumerate(SHOWN.items()):
        x = LEFT + 10 + 250 * i
        parts.append(
            f'<rect x="{x}" y="12" width="14" height="14" fill="{colour}"/><text x="{x + 20}" y="24">{name}</text>'
        )
        for j, figure in enumerate(figures[name]):
            x, high = LEFT + j * step + (step - 2 * BAR) / 2 + i * BAR, figure * (floor - TOP) / 100
            parts.append(
                f'<rect x="{x:.0f}" y="{floor - high:.0f}" width="{BAR - 3}" height="{high:.0f}" fill="{colour}"/>'
            )
            parts.append(
                f'<text x="{x + BAR / 2 - 1:.0f}" y="{floor - high - 5:.0f}" text-anchor="middle">{figure:.1f}</text>'
            )
    for j, corpus in enumerate(corpora):
        parts.append(f'<text x="{LEFT + (j + 0.5) * step:.0f}" y="{floor + 20}" text-anchor="middle">{corpus}</text>')
    parts.append(f'<path d="M{LEFT} {floor + 0.5}H{WIDTH}" stroke="#808790"/>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {STYLE} fill="#808790">'
    return "\n".join([head, "<title>F1 without labels on six corpora</title>", *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    (DOCS / "images" / "comparison.svg").write_text(draw(), encoding="utf-8")
