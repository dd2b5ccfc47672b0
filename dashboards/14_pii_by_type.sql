-- Personal data replaced per day, by type
-- page=behaviour chart=bars x=day y=replaced series=type
SELECT toDate(started_at) AS day, found.1 AS type, sum(found.2) AS replaced
FROM streams FINAL ARRAY JOIN CAST(pii, 'Array(Tuple(String, UInt32))') AS found
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}
GROUP BY day, type ORDER BY day, type
