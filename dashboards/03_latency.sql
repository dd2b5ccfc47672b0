-- Duration of streams and tools: p50, p95, p99
-- page=overview chart=lines x=time y=p50_ms,p95_ms,p99_ms series=of unit=ms
SELECT time, of, q[1] AS p50_ms, q[2] AS p95_ms, q[3] AS p99_ms FROM (
  SELECT toStartOfFifteenMinutes(started_at) AS time, 'stream' AS of,
    quantiles(0.5, 0.95, 0.99)(toUInt32(greatest(dateDiff('millisecond', started_at, ended_at), 0))) AS q
  FROM streams FINAL
  WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND state != 'open'
  GROUP BY time
  UNION ALL
  SELECT toStartOfFifteenMinutes(started_at) AS time, 'tool' AS of, quantiles(0.5, 0.95, 0.99)(duration_ms) AS q
  FROM steps FINAL
  WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND kind = 'tool_result'
  GROUP BY time)
ORDER BY time, of
