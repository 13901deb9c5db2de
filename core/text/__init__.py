"""Work on text of any origin: cleaning, searching, safe names, frontmatter.

Positions everywhere in hindnote count Unicode code points, which is how Python
indexes strings.
"""

from hindnote.core.text.cleaning import clean, clean_json

__all__ = ["clean", "clean_json"]
