"""Tool results as structure that a viewer can draw: the models, and what is drawn of them.

Each host reads its own tools' results into these models (``hosts/*/presentation``); terminals
and pages draw the models and know no host.
"""
