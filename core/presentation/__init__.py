"""Tool results as structured data for viewers: the models, and their rendering.

Each host converts its own tools' results to these models (``hosts/*/presentation``); terminals and
pages render the models, independent of the host.
"""
