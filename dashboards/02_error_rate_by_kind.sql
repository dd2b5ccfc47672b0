-- Share of steps with an error, by kind
-- page=overview chart=lines x=time y=error_rate series=kind unit=percent
SELECT toStartOfFifteenMinutes(started_at) AS time, kind, count() AS steps, countIf(error_class != '') / steps AS error_rate
FROM steps FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND kind != 'failure'
GROUP BY time, kind ORDER BY time, kind
