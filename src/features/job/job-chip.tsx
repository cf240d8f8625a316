import { findJobs, useUnfinishedJobs } from '#src/platform/jobs.ts';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import css from './job.module.css';

/** Beside whatever screen is shown: that something is being made, and how far it is. */
const JobChip = () => {
  const jobs = useUnfinishedJobs();
  useEffect(() => {
    // Without an answer it is asked for at the next screen.
    findJobs().catch(() => {});
  }, []);
  if (jobs.length === 0) return null;
  const done = jobs.reduce((sum, job) => sum + job.progress, 0) / jobs.length;
  const percent = Math.floor(done * 100);
  return (
    <Link
      to="/tasks"
      className={css.jobChip}
      aria-label={`${jobs.length} 个任务正在进行，${percent}%，打开任务`}
    >
      <i
        style={{ background: `conic-gradient(var(--accent) ${percent}%, var(--line-strong) 0)` }}
      />
      {jobs.length} 个任务 · {percent}%
    </Link>
  );
};

export default JobChip;
