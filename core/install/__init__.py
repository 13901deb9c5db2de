"""What the install commands and the doctor checks of the hosts share."""
