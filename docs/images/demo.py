"""Draw docs/images/demo.svg: what is found in garden notes with no label, by what the types mean.

python docs/images/demo.py
"""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from handful import Tagger, examples
from handful.cli.show import coloured, colours_of, legend
from handful.text import read, read_types

tagger = Tagger(read_types(examples.TYPES)).fit()
sentences = [s for s in read(examples.HELDOUT) if s.spans][:7]
console = Console(record=True, width=100, file=StringIO())
colours = colours_of(tagger.types_)
console.print(legend(colours), "")
for sentence in tagger.predict_sentences([s.without_labels() for s in sentences]):
    console.print(coloured(sentence, colours), "")
svg = console.export_svg(title="handful predict --types types.txt notes.txt")
svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "monospace")
Path(__file__).with_suffix(".svg").write_text(svg, encoding="utf-8")
