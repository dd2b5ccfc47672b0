-- Records read and written per second, failures and dead letters
-- page=pipeline chart=lines x=time y=in_per_s,out_per_s series=stage
SELECT toStartOfMinute(ts) AS time, stage, sum(records_in) / 60 AS in_per_s, sum(records_out) / 60 AS out_per_s,
  sum(failures) AS n_failures, sum(dead_letters) AS n_dead_letters
FROM stage_stats
WHERE ts >= {since:DateTime64(3, 'UTC')} AND ts < {until:DateTime64(3, 'UTC')}
GROUP BY time, stage ORDER BY time, stage
