import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { RouteError } from './route-error.tsx';
import {
  accountSearch,
  chatSearch,
  errorSearch,
  helpSearch,
  homeSearch,
  myPicturesSearch,
  parseSearch,
  redirectSearch,
  shareSearch,
  signInSearch,
  stringifySearch,
} from './search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell });

/** `?embedding=KEY` leads by way of the helper screen, which makes the session. */
const startFromKnowledge = ({ embedding }: { embedding?: string | undefined }) => {
  if (embedding !== undefined)
    throw redirect({ to: '/redirect', search: { embedding }, replace: true });
};

export const loadHome = () => import('@/features/session/home-screen.tsx');
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: homeSearch,
  beforeLoad: ({ search }) => startFromKnowledge(search),
  component: lazyRouteComponent(loadHome, 'HomeScreen'),
});

export const loadChat = () => import('@/features/chat/chat-screen.tsx');
const chat = createRoute({
  getParentRoute: () => root,
  path: '/chat',
  validateSearch: chatSearch,
  beforeLoad: ({ search }) => startFromKnowledge(search.uuid ? {} : search),
  component: lazyRouteComponent(loadChat, 'ChatScreen'),
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('@/features/auth/login-screen.tsx'), 'LoginScreen'),
});

const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: signInSearch,
  component: lazyRouteComponent(
    () => import('@/features/auth/register-screen.tsx'),
    'RegisterScreen',
  ),
});

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  validateSearch: accountSearch,
  component: lazyRouteComponent(
    () => import('@/features/account/account-screen.tsx'),
    'AccountScreen',
  ),
});

const tasks = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  component: lazyRouteComponent(() => import('@/features/job/tasks-screen.tsx'), 'TasksScreen'),
});

const myPictures = createRoute({
  getParentRoute: () => root,
  path: '/image/private',
  validateSearch: myPicturesSearch,
  component: lazyRouteComponent(
    () => import('@/features/image/my-pictures-screen.tsx'),
    'MyPicturesScreen',
  ),
});

const help = createRoute({
  getParentRoute: () => root,
  path: '/help',
  validateSearch: helpSearch,
  component: lazyRouteComponent(() => import('@/features/help/help-screen.tsx'), 'HelpScreen'),
});

const share = createRoute({
  getParentRoute: () => root,
  path: '/share',
  validateSearch: shareSearch,
  component: lazyRouteComponent(() => import('@/features/share/share-screen.tsx'), 'ShareScreen'),
});

const error = createRoute({
  getParentRoute: () => root,
  path: '/error',
  validateSearch: errorSearch,
  component: lazyRouteComponent(() => import('./error-screen.tsx'), 'ErrorScreen'),
});

const missing = createRoute({
  getParentRoute: () => root,
  path: '/404',
  component: lazyRouteComponent(() => import('./missing-screen.tsx'), 'MissingScreen'),
});

const helper = createRoute({
  getParentRoute: () => root,
  path: '/redirect',
  validateSearch: redirectSearch,
  beforeLoad: ({ search }) => {
    if (search.embedding === undefined) throw redirect({ href: search.to ?? '/', replace: true });
  },
  component: lazyRouteComponent(
    () => import('@/features/session/redirect-screen.tsx'),
    'RedirectScreen',
  ),
});

const unknown = createRoute({
  getParentRoute: () => root,
  path: '$',
  beforeLoad: () => {
    throw redirect({ to: '/404', replace: true });
  },
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    chat,
    login,
    register,
    account,
    tasks,
    myPictures,
    help,
    share,
    error,
    missing,
    helper,
    unknown,
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: RouteError,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
