//! Short programs that only look, and those that may do more.

use super::{Language, reads_only};

#[test]
fn python_that_computes_prints_and_reads_is_told_from_the_rest() {
    for looks in [
        "print(2**32 - 17)",
        "import sys; print(sys.path)",
        "import json,sys; d=json.load(sys.stdin); print(d['a']['b'], len(d))",
        "import json; d=json.load(open('report.json')); print(len(d['items']), list(d)[:5])",
        "import importlib.metadata as m; print(m.version(\"sqlalchemy\"))",
        "import csv\nwith open(\"data/in.csv\") as f:\n    print(next(csv.reader(f)))",
        "import platform; print(platform.platform())",
        "from urllib.parse import quote; print(quote('a b'))",
        "import re,sys; print(re.sub(r'\\d+', '#', sys.stdin.read()))",
        "for i in range(3): print(f'{i:02d}', i*i)",
        "print(sorted({'a': 1}.items(), key=lambda pair: -pair[1]))",
        "import math; print(math.pi)",
        "print('import os; os.system(1)')",
    ] {
        assert!(reads_only(Language::Python, looks).is_some(), "{looks}");
    }
    for more in [
        "import os; os.system('touch x')",
        "__import__('os').system('x')",
        "import platform; platform.os.system('x')",
        "from platform import os; os.system('x')",
        "from platform import os as p; p.system('x')",
        "import sys; sys.modules['os'].system('x')",
        "open('x','w').write('y')",
        "open(file='x', mode='w')",
        "open('x' 'y', 'w')",
        "print(1, file=open('x', 'a'))",
        "exec('import os')",
        "eval(input())",
        "getattr(print, '_'+'_self_'+'_')",
        "f = open; f('x', 'w')",
        "open = 1",
        "[x for x in ().__class__.__base__.__subclasses__()]",
        "print('{0.__class__}'.format(1))",
        "print(f'{().__class__}')",
        "print(f'{open(\"x\",\"w\")}')",
        "import importlib.metadata; importlib.import_module('os')",
        "import importlib.metadata as json; json.load()",
        "import json, subprocess",
        "import json.tool",
        "from json import codecs; codecs.open('x', 'w')",
        "import json; json.codecs.open('x', 'w')",
        "import sys; t=type(sys.stdin.buffer.raw); t('x', 'w')",
        "type(open('x'))('y')",
        "import sys; sys.stdout = 1",
        "import sys; sys.settrace(print)",
        "(lambda: 0).__globals__",
        "@print\ndef f(): pass",
        "import random; random._os.system('x')",
        "ｏｐｅｎ('x','w')",
        "print(1) \\\n; x",
        "import sys; sys.exc_info()[2].tb_frame.f_globals",
        "help()",
        "class A: pass",
        "'unfinished",
    ] {
        assert_eq!(reads_only(Language::Python, more), None, "{more}");
    }
}

#[test]
fn javascript_that_computes_prints_and_reads_is_told_from_the_rest() {
    for looks in [
        "1+1",
        "process.versions.v8",
        "process.version",
        "require('./package.json').version",
        "Object.keys(require(\"./package.json\").dependencies).length",
        "console.log(JSON.stringify({a: 1, b: [1, 2]}, null, 2))",
        "const p = require('./package.json'); console.log(p.name, p.scripts[\"test\"])",
        "[1,2,3].map(x => x*2)",
        "[3,1].sort((a, b) => a - b)",
        "new Date(0).toISOString()",
        "Math.max(1, 2)",
    ] {
        assert!(reads_only(Language::JavaScript, looks).is_some(), "{looks}");
    }
    for more in [
        "require('fs').writeFileSync('x','y')",
        "require(\"child_process\").execSync(\"x\")",
        "fs.writeFileSync('x', 'y')",
        "[...fs.readdirSync('.')]",
        "this.fs",
        "const f = fs",
        "require('./evil')",
        "require('./evil.json' + '.js')",
        "const r = require; r('fs')",
        "process.mainModule.require('fs')",
        "process.env.HOME",
        "process.kill(1)",
        "process['kill'](1)",
        "process[\"ki\"+\"ll\"](1)",
        "Object.values(process)",
        "const {kill} = process; kill(1)",
        "const {mainModule} = process",
        "const p = process; p.kill(1)",
        "''.constructor.constructor('x')()",
        "const {constructor: c} = console.log; c('x')()",
        "const {\"constructor\": c} = 1",
        "const {\"\\x63onstructor\": c} = 1",
        "const {[\"con\"+\"structor\"]: c} = 1",
        "x => x['con'+'structor']",
        "eval('1')",
        "new Function('x')",
        "globalThis.fs",
        "import('fs')",
        "`${1}`",
        "/x/.test('x')",
        "console.log(1) // x",
        "console.Console",
        "\\u0066s.x",
        "fetch('http://x')",
    ] {
        assert_eq!(reads_only(Language::JavaScript, more), None, "{more}");
    }
}

#[test]
fn the_files_a_program_reads_are_named() {
    let read = |language, program| reads_only(language, program).unwrap();
    assert_eq!(read(Language::Python, "print(open('.env').read(), open(\"b\", 'rb'))"), [".env", "b"]);
    assert_eq!(read(Language::JavaScript, "require('../a.json')"), ["../a.json"]);
}
