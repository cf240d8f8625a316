import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The optional packages whose terms are stricter than those of all others. They lie beside the
 * program in node_modules, never in its bundles, and it runs without them
 * (server/optional-packages.ts). `contains` is what their own package.json does not say; `texts`
 * names files of scripts/licences.
 */
export const optionalPackages = [
  {
    name: 'text2wav',
    license: 'GPL-3.0-or-later',
    contains: 'eSpeak NG（GPL-3.0-or-later），编译成 WebAssembly，含它的语音数据',
    source: 'https://github.com/espeak-ng/espeak-ng',
    texts: ['GPL-3.0'],
    use: '内置朗读',
    without: '设 VOICE_MODEL_DIR 用 sherpa-onnx 的声音，或连接一个语音服务',
  },
  {
    name: '@napi-rs/webcodecs',
    license: 'GPL-2.0-or-later',
    contains: 'FFmpeg，静态链接了 x264 与 x265（GPL-2.0-or-later）、LAME（LGPL）',
    source: 'https://github.com/Brooooooklyn/webcodecs-node',
    texts: ['GPL-2.0', 'LGPL-2.1'],
    use: '内置视频的编码、朗读压缩成 MP3、本机识别读 WAV 以外的录音',
    without: '视频由 @libav.js/variant-webm-vp9 编码成 VP9（慢一些），朗读是 WAV，本机识别只读 WAV',
  },
  {
    name: 'sherpa-onnx-node',
    license: 'GPL-3.0-or-later',
    contains: '它的二进制静态链接了 eSpeak NG（GPL-3.0-or-later）；其余是 Apache-2.0 与 MIT',
    source: 'https://github.com/k2-fsa/sherpa-onnx',
    texts: ['GPL-3.0'],
    use: 'SPEECH_MODEL_DIR（本机识别）与 VOICE_MODEL_DIR（本机朗读）',
    without: '连接一个语音服务',
  },
  {
    name: '7z-wasm',
    license: 'LGPL-2.1-or-later AND LicenseRef-unRAR',
    contains:
      '7-Zip（LGPL-2.1-or-later），其中的 RAR 解压代码受 unRAR 条款限制：不得用来重做 RAR 压缩',
    source: 'https://github.com/use-strict/7z-wasm',
    texts: ['LGPL-2.1'],
    use: '打开 rar、7z、xz',
    without: 'zip、gz、tar 照常打开，其余请人换成 zip',
  },
];

/** Whether a package is an optional one, or the binary of one for some platform. */
export const belongsTo = (name, optional) =>
  name === optional || name.startsWith(`${optional.replace(/-node$/, '')}-`);

/**
 * The optional packages that WITHOUT_PACKAGES names: all, or some with commas between.
 * @throws Error for a name that is none of them
 */
export const leftOut = (setting) => {
  const names = optionalPackages.map(({ name }) => name);
  const wanted = setting
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (wanted.includes('all')) return names;
  for (const each of wanted)
    if (!names.includes(each))
      throw new Error(
        `WITHOUT_PACKAGES 应为 all 或 ${names.join('、')}（逗号分开），现在有“${each}”`,
      );
  return wanted;
};

/** Removes packages from node_modules; gives the names of the folders that were there. */
export const removePackages = (names) => {
  const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
  const scopes = [
    '',
    ...new Set(names.filter((name) => name.startsWith('@')).map((name) => name.split('/')[0])),
  ];
  const there = scopes.flatMap((scope) => {
    try {
      return readdirSync(join(modules, scope)).map((folder) =>
        scope ? `${scope}/${folder}` : folder,
      );
    } catch (error) {
      if (error.code === 'ENOENT') return [];
      throw error;
    }
  });
  const gone = there.filter((folder) => names.some((name) => belongsTo(folder, name)));
  for (const folder of gone) rmSync(join(modules, folder), { recursive: true, force: true });
  return gone;
};
