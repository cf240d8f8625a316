import { usePageTitle } from '@/shared/use-page-title.ts';
import { getRouteApi } from '@tanstack/react-router';
import './account.css';
import { Overview } from './overview.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { Usage } from './usage.tsx';

const route = getRouteApi('/account');

export const AccountScreen = () => {
  const { tab } = route.useSearch();
  usePageTitle(tab === 'usage' ? '消费记录' : tab === 'settings' ? '设置' : '我的');
  if (tab === 'usage') return <Usage />;
  if (tab === 'settings') return <SettingsPanel />;
  return <Overview />;
};
