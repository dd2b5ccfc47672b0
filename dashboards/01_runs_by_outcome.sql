-- Runs per hour by outcome
-- page=overview chart=bars x=hour y=runs series=outcome
SELECT hour, outcome, count() AS runs FROM (
  SELECT toStartOfHour(min(started_at)) AS hour,
    multiIf(has(groupArray(outcome) AS all, 'open'), 'open', has(all, 'failed'), 'failed', has(all, 'partial'), 'partial',
            has(all, 'repaired'), 'repaired', 'clean') AS outcome
  FROM (SELECT tenant, run_id, started_at, outcome FROM streams FINAL
    WHERE (tenant = {tenant:String} OR {tenant:String} = '') AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}
  AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')})
  GROUP BY tenant, run_id)
GROUP BY hour, outcome ORDER BY hour, outcome
