// The theme that was chosen, before anything is drawn; a script of its own for that. It is kept in a cookie, because what a page
// stores otherwise belongs to its port, and the server takes another one each time.

const [, chosen] = /(?:^|; )libacp-theme=(light|dark)(?:;|$)/.exec(document.cookie) ?? [];
if (chosen) document.documentElement.dataset.theme = chosen;
