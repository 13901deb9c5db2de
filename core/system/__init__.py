"""This process and the system around it.

* ``process``: set up a process of hindnote, and its current directory
* ``programs``: find another program, but never one inside the current project
* ``shortage``: distinguish a lack of file descriptors or memory from damaged data
"""
