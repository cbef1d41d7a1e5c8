/** The look of every page: light and dark, narrow and wide, on paper and on screens. */
export const stylesheet = `
:root{color-scheme:light dark;
--paper:#faf8f3;--sheet:#fff;--ink:#1f1d1a;--soft:#5d574e;--line:#d9d2c5;
--rest:#0b625c;--rest-soft:#dcefec;--soap:#8f1d5b;--soap-soft:#f7e3ee;
--wrong:#a11d13;--wrong-soft:#fbe6e3;--code:#f3efe6;--focus:#1a56c4;
--sans:ui-sans-serif,system-ui,"Segoe UI",sans-serif;--serif:"Iowan Old Style",Charter,"Bitstream Charter",Georgia,serif;
--mono:ui-monospace,"Cascadia Mono",Menlo,"DejaVu Sans Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{
--paper:#161718;--sheet:#1f2122;--ink:#ece8df;--soft:#b0a99d;--line:#3b3c3d;
--rest:#6fd1c6;--rest-soft:#17383a;--soap:#f08fc0;--soap-soft:#43203a;
--wrong:#ff9c90;--wrong-soft:#46201c;--code:#191a1b;--focus:#8ab4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 var(--sans);overflow-wrap:anywhere}
body::before{content:"";display:block;height:6px;background:linear-gradient(90deg,var(--rest) 0 50%,var(--soap) 50%)}
h1,h2,h3{font-family:var(--serif);font-weight:600;line-height:1.2;margin:0 0 .6rem}
h1{font-size:clamp(1.6rem,1.2rem + 2vw,2.4rem)}h2{font-size:1.3rem}h3{font-size:1.08rem}
p{margin:0 0 .8rem}
a{color:var(--rest);text-underline-offset:.15em}a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
main:focus-visible{outline:none}
code,pre,kbd{font-family:var(--mono);font-size:.875em}
pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.8rem;margin:0 0 .8rem;overflow:auto;max-height:30rem;white-space:pre-wrap}
pre a{color:inherit}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--sheet);padding:.5rem 1rem;z-index:2}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem 1.4rem;padding:.7rem clamp(1rem,3vw,2.5rem);border-bottom:1px solid var(--line);background:var(--sheet)}
.home{display:flex;align-items:center;gap:.6rem;font:600 1.15rem var(--serif);color:var(--ink);text-decoration:none}
.mark circle{fill-opacity:.85}.mark .one{fill:var(--rest)}.mark .two{fill:var(--soap);fill-opacity:.7}
.top nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem}.top nav a{color:var(--ink);padding:.2rem 0}
.visitor{margin-inline-start:auto;display:flex;flex-wrap:wrap;gap:.3rem .7rem;align-items:center}
.visitor form{margin:0;padding:0;border:0;background:none}
.name{font-weight:600}.roles{color:var(--soft);font-size:.9rem}
.page{padding:1.4rem clamp(1rem,3vw,2.5rem) 3rem;max-width:100rem;margin:0 auto}
main{max-width:68rem;min-width:0}
@media(min-width:72rem){.with-aside{display:grid;grid-template-columns:minmax(0,1fr) minmax(22rem,34rem);gap:2.5rem;align-items:start}
.wide aside{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:2.5rem}}
.wide main{max-width:none}
aside h2{font-size:1.05rem}
.trail ol{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem .5rem;margin:0 0 .6rem;padding:0;font-size:.92rem}
.trail li+li::before{content:"›";color:var(--soft);margin-inline-end:.5rem}
.done{display:none}.done:target{display:block;background:var(--rest-soft);border-inline-start:5px solid var(--rest);padding:.6rem .9rem;border-radius:6px}
section{margin:0 0 2rem}
.faces{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:1.2rem 2rem;align-items:start;margin:0 0 2rem}.faces>section{margin:0}
section,details,form,.card{min-width:0}
dl{margin:0 0 1rem;background:var(--sheet);border:1px solid var(--line);border-radius:10px;overflow:hidden}
dl>div{display:grid;grid-template-columns:minmax(7rem,11rem) minmax(0,1fr);gap:.3rem 1rem;padding:.5rem .9rem}
dl>div+div{border-top:1px solid var(--line)}
dt{color:var(--soft)}dd{margin:0;min-width:0}
dd table{margin:.2rem 0}
table{border-collapse:collapse;width:100%;background:var(--sheet);border:1px solid var(--line);margin:0 0 1rem;font-variant-numeric:tabular-nums}
th,td{text-align:start;vertical-align:top;padding:.5rem .8rem;border-bottom:1px solid var(--line)}
thead th{background:var(--code);font-size:.9rem}thead th a{color:var(--ink)}
tbody tr:last-child>*{border-bottom:0}
td,thead th{overflow-wrap:break-word}.table{overflow-x:auto;margin:0 0 1rem}.table table{margin:0}
time,td .choice,td code,.number{white-space:nowrap}
.number{font-variant-numeric:tabular-nums}
.octets{display:block;max-height:4.6em;overflow:hidden}
.choice,.state-name{display:inline-block;border:1px solid var(--line);border-radius:1em;padding:0 .6em;white-space:nowrap;background:var(--code)}
.yes{color:var(--rest);font-weight:600}.no{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1rem;padding:0;margin:0 0 1rem;list-style:none}
.card{background:var(--sheet);border:1px solid var(--line);border-top:4px solid var(--rest);border-radius:8px;padding:.8rem 1rem}
.card.soap{border-top-color:var(--soap)}.card a{font-weight:600}.card.soap a{color:var(--soap)}.card p{margin:.2rem 0 0;color:var(--soft);font-size:.92rem}
.links{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;list-style:none;padding:0;margin:0 0 1rem}
.words{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end}.words .field{flex:1 1 14rem;margin:0}.words input{max-width:none}
tr:has(:target)>*{background:var(--rest-soft)}
.scroll{overflow-x:auto;margin:0 0 1rem;padding:.2rem;background:var(--sheet);border:1px solid var(--line);border-radius:10px}
.machine{display:block;font:500 14px var(--sans);max-width:100%;height:auto}.machine.wide{min-width:32rem}
.machine text{fill:var(--ink)}
.machine .state rect{fill:var(--code);stroke:var(--soft);stroke-width:1.5}
.machine .state.end rect{stroke-dasharray:5 4}
.machine .state.now rect{fill:var(--rest);stroke:var(--rest)}.machine .state.now text{fill:var(--paper);font-weight:700}
.machine .edge path{fill:none;stroke:var(--soft);stroke-width:1.5}
.machine .edge text{fill:var(--soft);font-size:13px;paint-order:stroke;stroke:var(--sheet);stroke-width:5px;stroke-linejoin:round}
.machine .edge.now path{stroke:var(--rest);stroke-width:2.5}.machine .edge.now text{fill:var(--rest);font-weight:700}
.machine marker path{fill:var(--soft)}
form,.panel{background:var(--sheet);border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem;margin:0 0 1rem}
form.bare{background:none;border:0;padding:0}
form h3{margin-bottom:.7rem}
.forms{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:1rem;align-items:start}
.forms>*{margin:0}
.field{margin:0 0 .9rem;display:flex;flex-direction:column;gap:.15rem}
label,legend{font-weight:600}.optional,.hint{font-weight:400;white-space:pre-line;color:var(--soft);font-size:.9rem}
input,select,textarea,button{font:inherit;color:inherit}
input,select,textarea{background:var(--paper);border:1px solid var(--soft);border-radius:6px;padding:.45rem .6rem;width:100%;min-height:2.75rem;max-width:32rem}
textarea{max-width:none;resize:vertical}textarea.message{font-family:var(--mono);font-size:.85rem;min-height:18rem}
input[type=radio],input[type=checkbox]{width:1.2rem;min-height:1.2rem;accent-color:var(--rest)}
.choices{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem}.choices label{display:flex;align-items:center;gap:.4rem;font-weight:400}
fieldset{border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem;margin:0 0 .9rem;min-width:0}
.rows{padding:0;margin:0;list-style:none}.rows>li{margin:0 0 .6rem}
.rows fieldset{margin-bottom:.3rem}
.side{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr));gap:0 1rem;align-items:end}
button,.button{background:var(--rest);color:var(--paper);border:1px solid var(--rest);border-radius:6px;padding:.5rem 1.1rem;min-height:2.75rem;font-weight:600;cursor:pointer}
a.button{display:inline-block;text-decoration:none}button:hover{filter:brightness(1.08)}
button.minor{background:none;color:var(--ink);border-color:var(--soft);font-weight:400;padding:.3rem .8rem;min-height:2.25rem}
button.danger{background:none;border-color:var(--wrong);color:var(--wrong)}
button.soap{background:var(--soap);border-color:var(--soap)}
.buttons{display:flex;flex-wrap:wrap;gap:.6rem}
details{background:var(--sheet);border:1px solid var(--line);border-radius:10px;margin:0 0 1rem}
summary{cursor:pointer;padding:.7rem 1rem;font-weight:600}
details[open]>summary{border-bottom:1px solid var(--line)}
details>form,details>.inside{border:0;margin:0;padding:1rem;background:none}
.wrong>label{color:var(--wrong)}.wrong input,.wrong select,.wrong textarea{border-color:var(--wrong);border-width:2px}
.problem{color:var(--wrong);font-weight:600}
.alert{background:var(--wrong-soft);border-inline-start:6px solid var(--wrong);border-radius:8px;padding:.9rem 1.1rem;margin:0 0 1.4rem}
.alert h2{color:var(--wrong)}.alert ul{margin:.2rem 0 .6rem;padding-inline-start:1.2rem}.alert a:not(.button){color:var(--wrong)}
.alert>:last-child{margin-bottom:0}
.face{border-top:4px solid var(--rest);padding-top:.7rem}.face.soap{border-top-color:var(--soap)}
.pages{display:flex;gap:1rem;align-items:center;margin:0 0 1rem}
.pages a{border:1px solid var(--soft);border-radius:6px;padding:.4rem 1rem;text-decoration:none;color:var(--ink)}
footer{border-top:1px solid var(--line);padding:1rem clamp(1rem,3vw,2.5rem);color:var(--soft);font-size:.9rem}
@media(max-width:40rem){
.visitor{margin-inline-start:0}
dl>div{grid-template-columns:1fr;gap:0}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,td{display:block;width:100%}table{border:0;background:none}
tr{background:var(--sheet);border:1px solid var(--line);border-radius:10px;margin:0 0 .8rem;padding:.3rem 0}
td,tbody th{display:grid;grid-template-columns:minmax(6rem,38%) minmax(0,1fr);gap:.6rem;border:0;padding:.25rem .8rem}
tbody th{display:block}
td>*{justify-self:start;max-width:100%}time,td code,.number{white-space:normal}
td::before{content:attr(data-label);color:var(--soft)}td:empty{display:none}
dd tr{border-radius:6px}}
@media print{.top nav,.visitor,form,details:has(form),aside,footer{display:none}}
@media(prefers-reduced-motion:no-preference){details[open]>:not(summary){animation:rise .18s ease-out}@keyframes rise{from{opacity:0;transform:translateY(-4px)}}}
`.trim()

/** The mark from the page head as an icon. */
export const pageIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><circle cx="14" cy="20" r="13" fill="#0b625c"/><circle cx="26" cy="20" r="13" fill="#8f1d5b" fill-opacity=".75"/></svg>'
