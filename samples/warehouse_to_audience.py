"""From a warehouse's table to an audience, without a file in between: people who said yes, by a query.

python samples/warehouse_to_audience.py                  # a table in memory, to an emulator
python samples/warehouse_to_audience.py shop.duckdb ID   # table customers of that file, to audience ID

Any library whose frames speak Arrow will do: DuckDB stands for it here (pip install duckdb).
"""

from __future__ import annotations

import sys

import duckdb
from upload_contacts import emulator

import audiencekit

PEOPLE = "SELECT mail, mobile, land FROM customers WHERE consent ORDER BY customer"


def main(arguments: list[str]) -> int:
    """The exit code: 0 when everything was confirmed, else that of the error."""
    if len(arguments) == 2:
        with duckdb.connect(arguments[0], read_only=True) as warehouse:
            return upload(warehouse, arguments[1])
    with emulator() as audience_id, duckdb.connect() as warehouse:
        invent_customers(warehouse)
        return upload(warehouse, audience_id)


def upload(warehouse: duckdb.DuckDBPyConnection, audience_id: str) -> int:
    """Upload what the query gives, and say how it went."""
    try:
        report = audiencekit.upload(
            warehouse.sql(PEOPLE),
            audience=audience_id,
            columns={"email": "mail", "phone_number": "mobile"},
            country_column="land",
        )
    except audiencekit.AudiencekitError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return error.exit_code
    rows = report.rows
    sys.stdout.write(f"{report.state}: {rows.read} rows read, {rows.sent} sent, {rows.rejected} rejected\n")
    return 0


def invent_customers(warehouse: duckdb.DuckDBPyConnection) -> None:
    """A table of 300 customers; every third said no, and one who said yes left no address."""
    warehouse.execute(
        """CREATE TABLE customers AS
        SELECT n AS customer, n % 3 <> 0 AS consent, 'DE' AS land,
               CASE n WHEN 1 THEN NULL ELSE 'customer' || n || '@example.com' END AS mail,
               CASE n WHEN 1 THEN NULL ELSE '030 2312' || (5000 + n) END AS mobile
        FROM range(300) AS numbers(n)"""
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
