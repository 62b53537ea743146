"""Manifests that use the whole language, for tests of the schema."""

LEAST = """
promptc: 1
name: least
version: 1.0.0
tokenizer: chars/4
budget: 100
sections:
  - {id: input, text: "{{ state.input }}"}
"""

WHOLE = r"""
# yaml-language-server: $schema=../../schemas/pack.schema.json
promptc: 1
name: the-whole-language
version: 2.10.0-rc.1+build.5
tokenizer:
  use: "hf:tokenizer.json"
  fallback: chars/4
  margin: 5
  ranks: [ranks/own.tiktoken]
  calibration: usage.calibration.json
  chat_template: {file: tokenizer_config.json, name: default, now: state.now, with: {}}
limits: {source: 131072, parts: 50000, steps: 9000000, memory: 120000000, text: 32000000, range: 200000, width: 4000}
budget: {context: 16384, reserve: 3384}
state: {schema: state.schema.json}

visible: not item.internal | default(false)
redact: [email, {pattern: "FH-[0-9]{5}", as: order}]

define:
  hinge: "'hinge' in item.tags"
  about(npc, ref): item.ref_id == npc and ref
  limit_of_all: 12

let:
  on: true
  nothing: null
  two: 2
  hot: state.factions | selectattr('at_war')
  listed: "[state.a, none]"
  precarity: {band: state.stress, of: {steady: 0, pressed: 4.5, hanging: 9}}
  tone: {assign: state.game_id, of: {"1.0.0": 80, "1.1.0": 20}}

asserts:
  - {that: state.a == state.b, else: "two clocks drifted apart", level: error}
  - {that: state.a, else: "a is missing"}

stores:
  main: {url: "sqlite:segments.db", url_env: PROMPTC_SEGMENTS, table: prompt_segments, locale: "[state.locale, 'en']", version: tone}

indexes:
  archive:
    corpus: "prompt_archive/{version}/{domain}/*.md"
    chunk: {tokens: [350, 600], overlap: 0.12}
    defaults: {mode: general}
    path: "data/prompt_index/{version}"
    weights: {words: 0.6, vectors: 0.4}
    vectors: {encoder: minilm-int8}
    engine: {url_env: PROMPTC_INDEX}
    synonyms: synonyms.yaml
    asked: "prompt_archive/{version}/asked.tsv"
    lead: 0.05
    neighbours: 0.4
  campaign: {from: state.campaign_memory, id: item.id, text: "{{ item.text }}"}

tools: [tools/engage.json]
response: schemas/turn.json

sections:
  - {id: identity, title: Identity, note: who speaks, role: system, template: identity.md.j2, pinned: true, required: true, fence: none}
  - {id: rules, text: "Be kind.", budget: "15%", cache: true, fence: {open: "<rules>", close: "</rules>"}}
  - id: world
    template: world.md
    budget: {min: 100, max: "12.5%", grow: 0.5, over: warn}
    overflow: [{trim: {at: line, marker: "[cut]", warn: true}}]
  - id: seed
    role: developer
    text: "{{ state.seed }}"
    budget: {chars: 800}
    overflow: [{trim: {to: {chars: 100}, from: middle}}, {drop: {}}]
  - {id: spine, text: "{{ state.spine }}", budget: {from: state.spine | length, max: {tokens: 80}}, header: "Summary:", when: state.spine}
  - id: recent
    role: user
    budget: 3500
    separator: "\n\n"
    items:
      from: state.transcript
      id: item.id
      number: item.seq
      where: item.ok
      window: {last: 12, min: 4, max: 20, step: 4, whole: group}
      anchors: {where: "'hinge' in item.tags", last: 3, within: 200}
      keep: [{where: item.type == 'CHOICE', last: 1, within: 1000}, {where: item.pinned}]
      freeze: {shown: state.shown.recent, late: item.ok}
      dedupe: {by: item.content, against: [rules, world], keep: last, exact: true}
      sort: [{by: item.score, desc: true}, item.id]
      limit_per: {by: item.type, caps: {PROFILE: 2, "Odd kind": 0}}
      limit: {last: 8}
      group: {by: item.ref_id, header: "NPC: {{ group }}"}
      tally: item.type
      forms: [full.md.j2, brief.md.j2, {text: "{{ item.name }}"}]
      trim_each: {to: {chars: 800}, at: word, marker: "…"}
      fence: {open: "<rule {{ item.file }}>", close: "</rule>"}
    overflow:
      - trim: {at: [line, sentence], finest: sentence, from: start, floor: 60, order: [item.type == 'SYSTEM', true], marker: "…"}
      - evict: {by: item.score, whole: group, step: 2, floor: 1, marker: "[{{ count }} left out]", marker_at: below, warn: true}
      - shorten: {order: [not this.anchor]}
      - lower: {by: item.level, floor: 0}
      - recap: {older: 0.5, where: not this.anchor, template: recap.md.j2}
      - replace: {template: cue.md.j2}
      - drop: {}
      - fail: {}
  - id: history
    items:
      from: state.history
      window: {last: state.depth}
      sort: item.at
      limit: 20
      message:
        {role: item.role, name: item.by, content: item.content, parts: [text, image], roles: [user],
         media: {model: gpt-5.6, detail: low, tokens: part.tokens}}
  - {id: plain, items: {from: state.plain, sort: {by: item.x}, template: item.md.j2, fence: none}}
  - id: npc
    items:
      from: {segments: {store: main, scope: npc, each: state.npcs, ref: each.id, where: true, locale: "'en'", version: tone,
                        missing: error}}
      text: "{{ item.content }}"
  - id: lore
    items:
      from:
        retrieve:
          index: [archive, campaign]
          query: state.query
          version: state.version
          where: item.mode == state.mode
          window: 50
          candidates: 12
          floor: 0.25
          boost: [{add: 0.05, where: item.domain == state.domain}]
          top: 6
          sparse_below: 1
      text: "- {{ item.text }}"
  - {id: one, items: {from: {retrieve: {index: archive, query: state.query}}, text: "{{ item.text }}"}}
  - {id: input, text: "{{ state.input }}", pinned: true}

patches:
  short: {sections: {recent: {items: {window: {last: 6, min: null}, anchors: null, limit_per: {caps: {PROFILE: 1, OLD: null}}}}}}
  other: {use: [short], budget: {reserve: 4000}, truncate: null, tools: null, response: null, output: {fence: null, messages: each}}
  smaller: {budget: 8000, tools: [], truncate: [recent]}

variants:
  mood:
    select: state.mood.name
    default: scene
    cases:
      scene: {}
      "high noon": {use: [short], sections: {rules: {template: moods/noon.md.j2, budget: null, header: null, fence: {open: "<x>"}}}}
  retrieval:
    select: state.preset
    default: null
    cases: {deep: {sections: {extra: {after: lore, text: "{{ state.extra }}"}, lore: {before: recent}}}}

strain:
  previous: state.strain
  count: [world, recent]
  watch: {lore: "This would raise strain from {{ before }} to {{ after }}."}
  tiers:
    - {name: normal, at: 0}
    - name: strain_1
      at: 0.70
      leave: 0.65
      use: [short]
      variants: {retrieval: deep}
      sections: {recent: {items: {window: {last: 10}}}}
      pools: {memory: {max: 900}}
      truncate: [lore]
      output: {separator: ""}
    - name: strain_2
      at: 0.85
      do:
        - recap: {section: recent, older: 0.5, where: not this.anchor, template: recap.md.j2}
        - trim: {section: seed, to: {chars: 100}, at: word}
        - replace: {section: world, template: cue.md.j2}
        - drop: {section: npc}
        - use: other
        - fail: {section: rules}
    - {name: strain_3, at: 1, do: []}

pools:
  memory:
    sections: [lore, recent]
    max: 30%
    overflow: [lore, {evict: {sections: [lore, recent], by: item.score}}]

truncate:
  - lore
  - trim: {section: input, at: sentence, to: {chars: 800}}
  - evict: {section: recent, order: [true]}
  - shorten: {section: recent}
  - lower: {section: npc, by: item.metadata.tier}
  - recap: {section: recent, template: recap.md.j2}
  - replace: {section: world, template: cue.md.j2}
  - drop: {section: npc}
  - fail: {section: rules}

output:
  format: messages
  models: {anthropic: claude-opus-5-5}
  messages:
    - {role: system, sections: [identity, rules]}
    - {role: user, sections: [recent, input]}
  fence: {open: "[{{ section.id }}]", close: "[/{{ section.id }}]"}
  separator: "\n"
  guard: {fences: escape, special_tokens: reject, invisible: keep}
  warn: {chars: 20000}

operations:
  checkpoint:
    title: Digest and prune
    args: {keep: 12, summary: false}
    when: true
    asks:
      digest: {pack: digest.yaml, when: args.summary, check: {headings: [Hinge Index], max: 2500}, else: digest_fallback.md.j2}
      scene: {pack: scene.yaml, check: {schema: schemas/scene.json}, else: {text: "{{ state.summary }}"}}
    edits:
      - {set: /digest, to: answers.digest, when: args.summary}
      - {set: /strain, to: null}
      - {append: /history, each: answers.scene.seeds}
      - {remove: /notes/0}
      - {keep: /transcript, last: args.keep, archive: transcript}
    say: "Checkpoint made."
"""

EXTENDING = """
promptc: 1
name: varied
version: 1.0.0
extends: ../base
tokenizer: {fallback: chars/4}
budget: {reserve: 100}
state: null
let: {tone: null, mood: {of: {calm: 3}}}
asserts: []
sections:
  rules: {text: "Be brief.", header: null}
  recent:
    items: {from: {retrieve: {candidates: 3}}, window: {max: null}, dedupe: {exact: true}, group: {header: null}, message: {parts: [text]}}
  notes: {text: "{{ state.notes }}", before: input}
  world: null
patches: {short: null, long: {sections: {recent: {items: {window: {last: 20}}}}}}
variants: {mood: {default: null, cases: {noon: null}}}
strain: {previous: null}
truncate: null
output: {guard: {fences: null}, messages: merge}
"""
