import type { Locator, Page } from '@playwright/test';
import { asOwner, expect, foreignServer, test } from '#tests/support/manager-place.ts';
import { startFakeSafety } from '#tests/support/fake-safety.ts';
import { startFakeSms } from '#tests/support/fake-sms.ts';

test.skip(foreignServer, 'needs a server of its own');

/** A part of a screen by its heading. */
const part = (page: Page, name: string): Locator =>
  page.locator('section.card').filter({ has: page.getByRole('heading', { name, exact: true }) });
const field = (of: Locator, name: string): Locator => of.locator(`[data-field="${name}"]`);
const input = (of: Locator, name: string): Locator =>
  field(of, name).locator('input, textarea').first();
const save = (of: Locator, name = '保存') => of.getByRole('button', { name, exact: true }).click();

test('the forms of the law keep what is right, and say beside a field what is wrong @wide', async ({
  page,
  place,
}) => {
  test.setTimeout(180_000);
  const service = await startFakeSafety();
  await asOwner(page);
  await page.goto('/manager/compliance');

  const rules = part(page, '设置');
  await input(rules, 'producer_code').fill('中文编码');
  await input(rules, 'icp').fill('京ICP备2026000000号-1');
  await save(rules);
  await expect(field(rules, 'producer_code').getByRole('alert')).toContainText('只能是字母');
  await expect(input(rules, 'icp')).toHaveValue('京ICP备2026000000号-1');
  await input(rules, 'producer_code').fill('001191110108MA01ABCD0X10001');
  await save(rules);
  await expect(page.getByText('已保存')).toBeVisible();

  const safety = part(page, '内容安全');
  await safety.getByText('阿里云', { exact: true }).click();
  await save(safety);
  await expect(safety.getByRole('alert')).toContainText('要填它的密钥编号和密钥');
  await input(safety, 'key_id').fill('id');
  await input(safety, 'secret').fill(service.secret);
  await input(safety, 'address').fill('不是网址');
  await save(safety);
  await expect(field(safety, 'address').getByRole('alert')).toContainText('不是一个网址');
  await input(safety, 'address').fill(service.url);
  await input(safety, 'judge').fill('no-such-model');
  await save(safety);
  await expect(field(safety, 'judge').getByRole('alert')).toContainText('没有叫这个名字');
  await input(safety, 'judge').fill('');
  await save(safety);
  await expect(input(safety, 'secret')).toHaveValue('');

  const records = part(page, '调取记录');
  await save(records, '导出');
  await expect(records.getByRole('alert')).toHaveCount(4);
  await input(records, 'user_id').fill(String(place.person.id));
  await input(records, 'from').fill('2026-01-01');
  await input(records, 'to').fill('2099-12-31');
  await input(records, 'reason').fill('某某公安局，调证〔2026〕1 号');
  const download = page.waitForEvent('download');
  await save(records, '导出');
  expect((await download).suggestedFilename()).toContain(`records-${place.person.id}-`);

  await page.reload();
  await expect(input(rules, 'icp')).toHaveValue('京ICP备2026000000号-1');
  await expect(input(safety, 'key_id')).toHaveValue('id');
  await safety.getByText('不用', { exact: true }).click();
  await save(safety);
  await expect(input(safety, 'key_id')).toHaveCount(0);
  await expect
    .poll(async () => (await place.owner.call('safetyState', {})).settings.service)
    .toBe('');
  await place.owner.call('saveCompliance', { producer_code: '', icp: '' });
  await service.close();
});

test('messages are set up, tried and turned off again, and no part loses what is typed in it @wide', async ({
  page,
  place,
}) => {
  const sms = await startFakeSms();
  const settings = sms.settings('aliyun');
  await asOwner(page);
  await page.goto('/manager/sign_in');
  const messages = part(page, '短信');
  await expect(messages.getByRole('option', { name: '不用' })).toHaveAttribute(
    'aria-selected',
    'true',
  );
  await messages.getByText('阿里云', { exact: true }).click();
  for (const name of ['sms_key_id', 'sms_sign', 'sms_template', 'sms_endpoint'] as const)
    await input(messages, name).fill(settings[name]);
  await input(messages, 'sms_secret').fill('a wrong one');
  const mail = part(page, '邮件');
  await input(mail, 'smtp_host').fill('half.typed.example');
  await save(messages);
  const trial = part(page, '试发一条短信');
  await input(trial, 'to').fill('13800138000');
  await expect(input(mail, 'smtp_host')).toHaveValue('half.typed.example');
  await save(trial, '发送');
  await expect(trial.getByRole('alert')).toContainText('签名不对');
  await input(messages, 'sms_secret').fill(settings.sms_secret);
  await save(messages);
  await expect(page.getByText('已保存').last()).toBeVisible();
  await save(trial, '发送');
  await expect.poll(() => sms.messages.map(({ phone }) => phone)).toEqual(['13800138000']);
  await messages.getByText('不用', { exact: true }).click();
  await save(messages);
  await expect(trial).toHaveCount(0);
  await page.reload();
  await expect(input(messages, 'sms_key_id')).toHaveCount(0);
  const { settings: kept } = await place.owner.call('signInSettings', {});
  expect([kept.sms_provider, kept.sms_key_id]).toEqual(['', settings.sms_key_id]);
  await sms.close();
});
