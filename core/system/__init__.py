"""This process and the system around it.

* ``process``: how a process of hindnote starts, and which directory it runs in
* ``programs``: find another program, and never one that the project at hand brought along
* ``shortage``: tell a lack of file descriptors or memory from a fault of what was being read
"""
