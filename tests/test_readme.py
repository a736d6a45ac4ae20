"""The README's snippets run."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_python_snippets_run(capsys):
    snippets = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {})
    share_found, o_share, n_rounds = capsys.readouterr().out.split()[:3]
    assert float(share_found) > 0.95
    assert float(o_share) == 0.9
    assert 1 <= int(n_rounds) <= 10
