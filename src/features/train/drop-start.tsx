import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { projectTypes, trainLimits } from '#contract/train-limits.ts';
import { FileDrop } from './file-drop.tsx';
import { endingsFor, faultOfFile, kindsFor } from './file-upload.ts';
import { useLearnsFree } from './project-form.tsx';
import { droppedFiles, droppedProjects, type Place } from './projects.ts';

/**
 * A project from nothing but its files: named after their folder or the first of them, with the usual settings. They
 * are uploaded where it is shown, which finds their language and says the price before it begins.
 */
export const DropStart = ({
  place,
  onMade,
}: {
  place: Place;
  /** Gets the number of the project that was made. */
  onMade: (id: number) => void;
}) => {
  const translation = place === 'translate';
  const free = useLearnsFree();
  const mouse = useMedia(finePointer);
  const { busy, run } = useAct();
  const begin = (files: readonly File[], folder?: string) =>
    run(async () => {
      const faults = files.map((file) => faultOfFile(file, translation));
      const first = files[faults.indexOf('')];
      // Where some are good, the project's screen says what is wrong with the others.
      if (!first) {
        toast(faults[0] ?? '', 'error');
        return;
      }
      const { model } = await api.newTrainModel({
        name:
          (folder ?? first.name.replace(/\.[^.]+$/, '')).slice(0, trainLimits.name) || first.name,
        type: translation ? projectTypes.translation : projectTypes.knowledge,
      });
      if (translation) droppedProjects.add(model.id);
      droppedFiles.set(model.id, files);
      onMade(model.id);
    });
  const how = (what: string) => (mouse ? `把${what}拖到这里，或点一下选择` : `选择${what}`);
  return (
    <FileDrop
      accept={endingsFor(translation)
        .map((ending) => `.${ending}`)
        .join(',')}
      text={
        busy
          ? '正在新建…'
          : translation
            ? `${how('文档')}：整篇翻译`
            : `${how('文件')}：变成可以提问的知识库`
      }
      hint={`${kindsFor(translation)}，每个小于 4 MB；${free && !translation ? '免费' : '开始之前会说要多少 token'}`}
      onFiles={(files, folder) => {
        if (!busy && files.length > 0) void begin(files, folder);
      }}
    />
  );
};
