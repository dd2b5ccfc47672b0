-- Costliest and slowest runs
-- page=behaviour chart=table link=run_id
SELECT run_id, min(started_at) AS started, dateDiff('millisecond', started, max(ended_at)) AS ms, count() AS streams,
  sum(steps) AS n_steps, sum(tok_in) AS tokens_in, sum(tok_out) AS tokens_out, sum(cost_usd) AS usd,
  sum(errors) AS n_errors, sum(repairs) AS n_repairs, any(agent) AS by_agent
FROM streams FINAL
WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}
GROUP BY tenant, run_id ORDER BY usd DESC NULLS LAST, ms DESC LIMIT 20
