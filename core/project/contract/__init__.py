"""Contract v1: the closed output models of the project tools, and their numeric limits.

An output is one of two envelopes, distinguished by ``ok``: a success with ``data``,
``completeness`` and ``effects``, or a failure with ``error`` and ``effects``.

* ``bounds``: the limits, and how a text is cut to a limit
* ``envelope``: the parts that every output has
* ``documents``, ``todos``: the data of each tool
* ``marks``: apply the limits of the fields
"""
