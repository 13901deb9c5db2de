"""Files: the one place where this program opens, writes, replaces and locks them.

A folder is passed around as a *handle* (the integer that ``os.open`` returned), not as a path. Its
contents are opened by name through that handle (``dir_fd``), and symbolic links are never
followed. So nobody can redirect us by replacing a folder with a link between a check and its use.

* ``handles``: open folders and files, and read them
* ``names``: file names that other systems reject, confuse with another name, or hide
* ``stamps``: detect whether a file changed without reading it
* ``exchange``: two renames that Linux and macOS offer and Python's ``os`` does not
* ``atomic``: put a whole file in place, and clean up after a killed writer
* ``saving``: replace a file that people edit, without losing anything that they save
* ``locks``: locks across threads and processes; a lock ends when its holder dies
* ``bounded``: read a file up to a size limit, never waiting for a pipe
* ``throwaway_sqlite``: SQLite files in the cache folder that can be made again
* ``state``: the ``.hindnote`` folder, hidden from Git
"""
