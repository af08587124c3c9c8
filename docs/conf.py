"""The documentation site: `sphinx-build -W --keep-going -c docs . OUT`. Its pages are those of the repository."""

from audiencekit import __version__

project = "audiencekit"
author = "the authors of audiencekit"
copyright = "2026, the authors of audiencekit"  # noqa: A001 - the name that Sphinx reads
version = release = __version__

extensions = ["myst_parser"]
# The root of the repository is the source, so that README.md, SECURITY.md and samples/ are pages of the site, too.
include_patterns = [
    "README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/commands/*.md",
    "docs/python/*.md", "samples/README.md", "benchmarks/RESULTS.md",
]  # fmt: skip
exclude_patterns = [".*", "audiencekit", "kernels", "tests", "build", "dist"]
root_doc = "docs/index"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nitpicky = True

html_theme = "furo"
html_title = "audiencekit"
html_static_path: list[str] = []
html_extra_path = ["llms.txt", "site"]  # at the top of the site; `site/` has its index.html and its 404.html
html_show_sourcelink = False
html_copy_source = False
