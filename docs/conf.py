"""How the pages are built: ``tox -e docs``."""

from __future__ import annotations

from importlib.metadata import version as installed

project = "hindnote"
author = "The hindnote maintainers"
project_copyright = author
version = release = installed("hindnote")

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_build"]
# The prose holds JSON and messages word for word.
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "hindnote"
html_static_path = ["_static"]
html_css_files = ["hindnote.css"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}

# Of a console block the commands are copied, without the prompt and what they print.
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp"

# Loopback is where examples listen; nobody answers there while the links are followed.
linkcheck_ignore = [r"http://(localhost|127\.0\.0\.1)"]
