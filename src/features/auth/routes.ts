import { root } from '#src/platform/root-route.ts';
import { place, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

export interface SignInSearch {
  /** Where to go afterwards. */
  back?: string;
}
export const signInSearch = (raw: RawSearch): SignInSearch => ({ back: place(raw, 'back') });

export interface RegisterSearch extends SignInSearch {
  /** Of somebody's link. */
  invite?: string;
}
export const registerSearch = (raw: RawSearch): RegisterSearch => ({
  ...signInSearch(raw),
  invite: words(raw, 'invite', 64),
});

export const authRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/login',
    validateSearch: signInSearch,
    component: lazyRouteComponent(() => import('./login-screen.tsx'), 'LoginScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/login/$way',
    validateSearch: signInSearch,
    component: lazyRouteComponent(() => import('./way-screen.tsx'), 'WayScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/register',
    validateSearch: registerSearch,
    component: lazyRouteComponent(() => import('./register-screen.tsx'), 'RegisterScreen'),
  }),
] as const;
