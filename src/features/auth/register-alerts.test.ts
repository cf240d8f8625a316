import { expect, it } from 'vitest';
import { registerAlerts } from './register-alerts.ts';

const whole = { account: 'magpie', name: '小鹊', password: 'longenough', password2: 'longenough' };

it('says nothing about a whole form', () => {
  expect(registerAlerts(whole)).toEqual({});
});

it('says beside every blank field what it lacks', () => {
  expect(registerAlerts({ account: '', name: '', password: '', password2: '' })).toEqual({
    account: '用户名不能为空！',
    name: '名称不能为空！',
    password: '密码不能为空！',
    password2: '请再次输入一次密码！',
  });
});

it('compares the two passwords', () => {
  expect(registerAlerts({ ...whole, password2: 'other' })).toEqual({
    password2: '两次输入的密码不一致！',
  });
});
