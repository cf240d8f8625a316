import { date, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bigId, instant, reference, tokens } from '#server/db/columns.ts';

/** What managers did; append-only. */
export const managerActs = pgTable('manager_acts', {
  id: bigId(),
  userId: reference('user_id').notNull(),
  call: text('call').notNull(),
  /** Such as `user:12`. */
  subject: text('subject').notNull().default(''),
  input: jsonb('input').notNull(),
  before: jsonb('before'),
  after: jsonb('after'),
  ip: text('ip').notNull().default(''),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** What was counted, in steps of five minutes. */
export const statSteps = pgTable(
  'stat_steps',
  {
    metric: text('metric').notNull(),
    at: instant('at').notNull(),
    value: tokens('value').notNull(),
  },
  (table) => [primaryKey({ columns: [table.metric, table.at] })],
);

/** The same by days of China. */
export const statDays = pgTable(
  'stat_days',
  {
    metric: text('metric').notNull(),
    day: date('day').notNull(),
    value: tokens('value').notNull(),
  },
  (table) => [primaryKey({ columns: [table.metric, table.day] })],
);

/** What each person spent on a day of China. */
export const statSpent = pgTable(
  'stat_spent',
  {
    day: date('day').notNull(),
    userId: reference('user_id').notNull(),
    tokens: tokens('tokens').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.userId] })],
);

/** What was spent at each channel on a day of China. */
export const statChannels = pgTable(
  'stat_channels',
  {
    day: date('day').notNull(),
    channelId: reference('channel_id').notNull(),
    tokens: tokens('tokens').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.channelId] })],
);

export const statMarks = pgTable('stat_marks', {
  name: text('name').primaryKey(),
  until: instant('until').notNull(),
});
