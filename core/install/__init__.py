"""What the hosts' commands for installing and their doctors share."""
