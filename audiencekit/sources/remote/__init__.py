"""Files that lie elsewhere: in a bucket, behind https or SFTP. One version of each is read, piece by piece."""
