"""The audiences of a setup, every night at 03:15 UTC. Printed by `audiencekit schedule airflow`.

It holds the audiences as the setup described them: print it again when the setup changes. Put it into the folder of
DAGs. Each worker needs the extra `airflow`, the lists at these paths, and one state directory that all share.
Airflow needs a triggerer, where long waits go on without a worker: start `airflow triggerer`, or take `deferrable` out.

Connections of the type audiencekit, which hold the credentials:
  audiencekit_default

The exit codes of the command are not seen here. Where it would end with
  69, 74, 75   the task is tried again after 15 minutes, and goes on where it ended
  1, 2, 3, 77  the task fails for good, without another try
"""

import datetime

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.operators import AudienceSyncOperator, DoNotReachUploadOperator

with DAG(
    "audiencekit-shop",
    schedule="15 3 * * *",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=1,  # one audience after the other, at one pace; when one fails, the others go on
    default_args={
        "retries": 4,
        "retry_delay": datetime.timedelta(minutes=15),
        "deferrable": True,  # during long waits a task gives its worker back: this needs a triggerer
    },
):
    AudienceSyncOperator(
        task_id="spring-customers",
        conn_id="audiencekit_default",
        source="/srv/shop/exports/customers.csv",
        audience="dlzxk",
        options={
            "country": "DE",
            "suppress": ["/srv/shop/exports/unsubscribed.csv"],
        },
    )
    DoNotReachUploadOperator(
        task_id="objections",
        conn_id="audiencekit_default",
        source="/srv/shop/exports/objections.csv",
    )
