import { ButtonLink } from '#src/ui/button.tsx';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Bridge } from './bridge.tsx';

export const MissingScreen = () => {
  usePageTitle('页面不存在');
  return (
    <div className="page page-centre">
      <h1 className="sr-only">页面不存在</h1>
      <EmptyState
        image={<Bridge />}
        text="您访问了一个不存在的页面。请检查地址是否写对，或者回到首页。"
        action={
          <ButtonLink kind="primary" to="/">
            回到首页
          </ButtonLink>
        }
      />
    </div>
  );
};
