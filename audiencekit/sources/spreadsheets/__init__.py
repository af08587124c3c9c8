"""Spreadsheets: sheets of Excel workbooks, read as they are stored."""
