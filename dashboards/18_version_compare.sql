-- Before and after a registry version
-- page=pipeline chart=table bars=failed,repaired
SELECT registry_version, format, count() AS streams, countIf(outcome = 'failed') / streams AS failed,
  countIf(outcome = 'repaired') / streams AS repaired, round(avg(confidence), 3) AS mean_confidence,
  round(quantile(0.95)(latency_ms), 1) AS p95_latency_ms
FROM streams FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')} AND state != 'open'
GROUP BY registry_version, format ORDER BY registry_version DESC, streams DESC LIMIT 100
