declare module 'unbzip2-stream' {
  /** What goes in compressed comes out as it was. */
  export default function unbzip2(): NodeJS.ReadWriteStream;
}
