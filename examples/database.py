"""Learn where the table is, and score there: DuckDB counts the records, and the model becomes one SQL expression."""

import duckdb
import ibis

from discreet import DPOptimalRuleListClassifier
from discreet.datasets import load_adult

data = load_adult()
connection = ibis.duckdb.connect()
people = connection.create_table("people", data.frame)
model = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit_source(people)
sql = model.rule_list_.to_sql("duckdb")
print(sql)
frame = data.frame
print(duckdb.sql(f"SELECT {sql} AS predicted, count(*) AS people FROM frame GROUP BY ALL ORDER BY ALL"))
