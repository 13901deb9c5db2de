"""A notes home on PostgreSQL, as far as it knows nothing of notes: connection, schema, refusals.

Everything here needs psycopg, the extra ``hindnote[postgres]``, and is imported only for a home
that is a database.

* ``connection``: run statements within time limits, reconnect, find out what a lost change did
* ``opening``: open a connection, and wait for it within time limits
* ``address``: the name of a database as it may be shown, without its password
* ``problems``: turn errors of the database into refusals, without its address or password
* ``schema``: the tables, by version
* ``migrating``: give a database the tables of this version
* ``roles``: the two roles, one that reads and one that writes
"""
