-- Steps per run
-- page=behaviour chart=bars x=steps y=runs
SELECT least(n, 100) AS steps, count() AS runs FROM (
  SELECT sum(steps) AS n FROM streams FINAL
  WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}
  GROUP BY tenant, run_id)
GROUP BY steps ORDER BY steps
