"""The provider for Apache Airflow 3 and 2.11: a connection, operators, a sensor with its trigger. Thin by intention."""
