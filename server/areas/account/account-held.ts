import type { Held } from '#server/db/held.ts';

const books = { keep: 'what was given for an invitation, for the books; numbers and no words' };

/** What is a person's among the account's tables, and among those that all areas use. */
export const accountHeld: readonly Held[] = [
  { table: 'account_files', of: ['user_id'], end: 'delete' },
  { table: 'invites', of: ['user_id'], end: 'delete' },
  { table: 'invited', of: ['user_id', 'inviter_id'], end: books },
  // Answers that were kept to be given again, among them to a request that made a login.
  { table: 'idempotency', of: ['user_id', 'token_user_id'], end: 'delete' },
  { table: 'push_devices', of: ['user_id'], end: 'delete' },
  {
    table: 'job_previews',
    of: [],
    where: 'job_id IN (SELECT id FROM jobs WHERE user_id = $person)',
    end: 'delete',
  },
  {
    table: 'jobs',
    of: ['user_id'],
    end: { set: { title: `''`, line: `''`, input: `'{}'`, remote: 'NULL', error_message: `''` } },
    take: ['kind', 'title', 'model', 'state', 'created_at', 'finished_at'],
  },
  {
    table: 'users',
    of: ['id', 'merged_into'],
    end: {
      set: {
        account: 'NULL',
        user_name: `'已注销用户'`,
        password_hash: 'NULL',
        email: `''`,
        avatar: `''`,
        setting: `'{}'`,
        made_in: 'NULL',
        made_in_provider: `''`,
        disabled: 'true',
        subscribe: '0',
        people_group: 'NULL',
        deleted_at: 'coalesce(deleted_at, now())',
        erased_at: 'now()',
      },
    },
  },
];
