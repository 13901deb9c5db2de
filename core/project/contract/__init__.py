"""Contract v1: the closed outputs of the project tools, and their numeric ceilings.

An output is one of two envelopes, told apart by ``ok``: a success with ``data``,
``completeness`` and ``effects``, or a failure with ``error`` and ``effects``.

* ``bounds``: the ceilings, and how a text is cut at one
* ``envelope``: what every output holds
* ``documents``, ``todos``: the data of each tool
* ``marks``: which field has which ceiling
"""
