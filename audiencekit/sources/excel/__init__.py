"""Workbooks of Excel: sheets, read as they are stored."""
