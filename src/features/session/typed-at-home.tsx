import { sessionTypes } from '#contract/kinds.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import TypedList, { type OfferedScenario } from '#src/widgets/template/typed-list.tsx';
import { varsOf } from '#src/widgets/template/template-vars.ts';
import type { TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import { useNavigate } from '@tanstack/react-router';
import { useSessionList } from './session-queries.ts';
import { sessionTitle } from './session-title.ts';

/** What may be meant behind / and @ before a session begins: scenarios, too, and who one talks with. */
const TypedAtHome = ({
  images,
  model,
  text,
  onKeys,
  onText,
  onModel,
  onScenario,
}: {
  images: boolean;
  model: string;
  text: string;
  onKeys: TakeKeys;
  onText: (text: string) => void;
  onModel: (name: string) => void;
  onScenario: (scenario: OfferedScenario) => void;
}) => {
  const navigate = useNavigate();
  const scenarios = useCall('scenarioList', {}, { ...steady, enabled: !images });
  const talks = useSessionList({ channel: 'private', page: 1 }).data?.list ?? [];
  const people = talks.filter(
    (session) => session.type === sessionTypes.people && session.private === 1,
  );
  return (
    <TypedList
      below
      text={text}
      type={images ? 1 : 0}
      model={model}
      chosen={model}
      onKeys={onKeys}
      onText={onText}
      people={
        images
          ? []
          : people.map((session) => ({
              id: session.uuid,
              name: sessionTitle(session),
              note: '打开和对方的私信',
              run: () => void navigate({ to: '/chat', search: { uuid: session.uuid } }),
            }))
      }
      // What has to be filled in is filled in where the scenarios are.
      scenarios={(scenarios.data?.list ?? [])
        .filter(({ prompt }) => varsOf(prompt).every((each) => each === 'input'))
        .map(({ id, name, desc_ }) => ({ id, name, about: desc_ }))}
      onModel={images ? undefined : onModel}
      onScenario={onScenario}
    />
  );
};

export default TypedAtHome;
