"""Files in a bucket, or on a server behind https or SFTP. One version of each is read, piece by piece."""
