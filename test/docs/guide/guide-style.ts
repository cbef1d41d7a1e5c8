/** What the guide adds to the look of every page: text to read, with all pages next to it. */
export const guideStyle = `
.guide{display:flex;flex-direction:column;gap:2rem;min-width:0}
article{min-width:0;max-width:54rem}
article h2{margin-top:2.2rem;padding-top:.4rem;border-top:1px solid var(--line)}article h3{margin-top:1.4rem}
article li{margin:.25rem 0}article ol,article ul{padding-inline-start:1.4rem}
article img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:10px;background:#fff}
article table{font-size:.94rem}
pre{max-height:none}pre.output{background:none;border-style:dashed}
td code{white-space:normal;overflow-wrap:anywhere}thead td{background:var(--code)}
.file{margin:0 0 .2rem;font:600 .85rem var(--mono);color:var(--soft)}
.note{color:var(--soft)}.text{color:var(--soap)}.word{color:var(--rest)}
.ways{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1.2rem;margin:0 0 2rem}
.ways>section{margin:0}.ways h2{margin-top:0;padding-top:0;border:0}
.all{font-size:.93rem}.all ul{list-style:none;margin:.2rem 0 1rem;padding:0}.all li{margin:.2rem 0}
.all li ul{margin:.2rem 0 .5rem .2rem;padding-inline-start:.7rem;border-inline-start:2px solid var(--line)}
.all a{color:var(--ink);text-decoration:none}.all a:hover{text-decoration:underline}
.all [aria-current]{color:var(--rest);font-weight:600}.all li ul a{color:var(--soft)}
.all .kind{margin:0;font:600 1rem var(--serif)}
.turn{display:flex;flex-wrap:wrap;justify-content:start;gap:.6rem 2rem;margin:2.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line)}
@media(min-width:64rem){main:has(.guide){max-width:76rem}
.guide{display:grid;grid-template-columns:minmax(0,54rem) 16rem;gap:3rem;justify-content:start;align-items:start}
.all{position:sticky;top:1rem;max-height:calc(100vh - 2rem);overflow-y:auto;padding-inline-start:1rem;border-inline-start:1px solid var(--line)}}
@media print{.all,.turn{display:none}}
`.trim()
