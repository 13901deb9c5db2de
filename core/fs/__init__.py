"""Files: the one place for how this program opens, writes, replaces and locks them.

A folder is passed around as a *handle*, the number that ``os.open`` returned, and not
as a path. What lies below it is reached by name through that handle (``dir_fd``) and
never through a symbolic link, so a folder that somebody exchanges for a link between a
check and its use changes nothing.

* ``handles``: open folders and files, and read them
* ``names``: which names other systems could not hold, or would take for the same
* ``stamps``: what tells one state of a file from another without reading it
* ``exchange``: two renames that Linux and macOS have and Python's ``os`` has not
* ``atomic``: put a whole file in place, and clean up after a killed writer
* ``saving``: replace a file that others edit, and lose nothing that they save
* ``locks``: locks across threads and processes that end with their holder
* ``state``: the ``.hindnote`` folder, hidden from Git
"""
