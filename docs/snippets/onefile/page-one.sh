npx esbuild app.js --bundle --minify --outfile=site/app.js
