/** The files around the contract of a new project, as text: from then on the project owns them. */

/** The facts that the texts of a project mention. */
export interface ProjectFacts {
  /** The name of the folder, the package and the container: lower-case letters, digits and "-". */
  readonly name: string
  /** The heading of its README. */
  readonly title: string
  /** The version of this package; the project accepts compatible ones. */
  readonly version: string
  /** The Node versions that this package supports, such as `>=24.16`. */
  readonly node: string
  readonly typescript: string
  readonly nodeTypes: string
  /** A first request, below the address of the service. */
  readonly firstRequest: string
  /** The path of a WSDL. Default: that of the first version. */
  readonly wsdl?: string | undefined
  /** The arguments of `diglot import` that write its contract. */
  readonly source?: string
  /** Other packages that its sources need, by name and version. */
  readonly packages?: {
    readonly dependencies: Readonly<Record<string, string>>
    readonly devDependencies: Readonly<Record<string, string>>
  }
}

/** Path in the project → text. */
export const projectFiles = (facts: ProjectFacts): Readonly<Record<string, string>> => ({
  'package.json': writeManifest(facts),
  'tsconfig.json': tsconfig,
  '.gitignore': 'node_modules/\ndata/\n',
  '.dockerignore': 'node_modules/\ndata/\n.git/\n',
  '.github/workflows/ci.yml': ci,
  Containerfile: writeContainerfile(facts),
  'README.md': writeReadme(facts),
})

const writeManifest = ({ name, version, node, typescript, nodeTypes, packages, source }: ProjectFacts): string =>
  `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node },
      scripts: {
        start: 'diglot serve service.ts',
        dev: 'diglot dev service.ts',
        test: 'node --test',
        types: 'tsc -p .',
        ...(source !== undefined && { import: `diglot import ${source} -o contract.ts` }),
      },
      dependencies: { diglot: `^${version}`, ...packages?.dependencies },
      devDependencies: { '@types/node': nodeTypes, ...packages?.devDependencies, typescript },
    },
    undefined,
    2,
  )}\n`

const tsconfig = `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["es2025", "esnext"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["**/*.ts"]
}
`

const ci = `name: ci
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version-file: package.json
          cache: npm
      - run: npm ci
      - run: npm run types
      - run: npm test
`

const writeContainerfile = ({ name }: ProjectFacts): string => `# Nothing runs as root; only /data is written.
FROM docker.io/library/node:26-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DIGLOT_KEY=/data/${name}.key
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# SIGTERM ends it in peace: what is under way is answered first.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \\
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "node_modules/diglot/dist/cli.js"]
CMD ["serve", "service.ts", "--data", "/data/${name}.sqlite"]
`

const writeSource = (source: string): string => `
\`contract.ts\` is imported from ${source.replace(/^"(.*?)".*$/, '`$1`')}; \`npm run import\` brings a new version of it and keeps what you have edited.
Each handler of \`service.ts\` that ends with \`ctx.unimplemented()\` is still to be written: until then its callers get 501, or a fault of the Receiver, and the log has the file and the line.
Its test has \`todo\`: take that away with it.
`

const writeReadme = ({
  name,
  title,
  node,
  firstRequest,
  wsdl = '/soap/v1?wsdl',
  source,
}: ProjectFacts): string => `# ${title}

One contract, served as resource-oriented HTTP and as SOAP by [Diglot](https://github.com/diglot/diglot#readme).
It needs Node ${node.replace('>=', '')} or later.

    npm install
    npm test
    npm start

\`npm start\` serves it at \`http://127.0.0.1:8080\`, with its data in \`data/\`; \`npm run dev\` restarts it after each change of a file, checks types in parallel, and prints links and tokens.
${source === undefined ? '' : writeSource(source)}In another terminal:

    curl ${firstRequest}
    curl 'http://127.0.0.1:8080${wsdl}'
    npx diglot describe service.ts --access

Keep \`package-lock.json\` in version control: the container and the checks of \`.github/workflows/ci.yml\` install what it names.

## In production

The people of the seed have passwords that anyone can read; they may sign in on this machine alone, unless \`--insecure\` is given.
Add your own with \`npx diglot people add service.ts NAME --role ROLE\`, or accept the tokens of your issuer with \`--jwks\` and \`--issuer\`.

    docker build -f Containerfile -t ${name} .
    docker run -p 127.0.0.1:8080:8080 -v ${name}:/data ${name}

In a container these commands need its database and its key:

    printf '%s' "$PASSWORD" | docker run --rm -i -v ${name}:/data ${name} people add service.ts NAME --role ROLE --data /data/${name}.sqlite
    docker run --rm -v ${name}:/data ${name} token service.ts --subject NAME --role ROLE

A password counts over HTTPS alone: put a proxy that ends TLS in front, and end the first command with \`serve service.ts --data /data/${name}.sqlite --trust-proxy\`.
The second of these prints a token to try the service with, as \`Authorization: Bearer …\`.

Before a release, \`npx diglot diff service.ts --against git:main\` says which callers its changes would break.
`
