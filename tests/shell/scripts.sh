#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Chinese in traditional and in simplified characters: one text, one fingerprint.
. "$(dirname "$0")/../tap.sh"

# url, text: each in both scripts, written by hand
cat >texts.tsv <<'END'
bridge	這座石橋建於三百年前，橋身長約四十公尺，兩岸的居民每天從這裡過河去市場買菜。去年夏天大雨之後，橋墩出現了裂縫，縣政府請來工程師檢查，決定關閉三個月進行維修。工人們發現橋下藏著一塊刻有年號的石碑，歷史學者認為它能說明當時是誰出錢修橋的。
bridge	这座石桥建于三百年前，桥身长约四十公尺，两岸的居民每天从这里过河去市场买菜。去年夏天大雨之后，桥墩出现了裂缝，县政府请来工程师检查，决定关闭三个月进行维修。工人们发现桥下藏着一块刻有年号的石碑，历史学者认为它能说明当时是谁出钱修桥的。
tea	種茶的人說，好茶離不開雲霧。山上的茶園清晨總是濕潤的，葉子長得慢，滋味就厚。採茶要趕在太陽出來以前，一個熟練的工人一天只能採兩斤鮮葉。炒茶的鐵鍋溫度很高，手掌必須不停翻動，否則葉片立刻變焦。機器雖然省力，老師傅們卻認為香氣差了許多。
tea	种茶的人说，好茶离不开云雾。山上的茶园清晨总是湿润的，叶子长得慢，滋味就厚。采茶要赶在太阳出来以前，一个熟练的工人一天只能采两斤鲜叶。炒茶的铁锅温度很高，手掌必须不停翻动，否则叶片立刻变焦。机器虽然省力，老师傅们却认为香气差了许多。
train	新的鐵路線將在明年開通，從省會到邊境只需要兩個小時。鐵路局表示，沿線十一個車站已經完工，軌道測試進展順利。票價還沒有確定，不過負責人強調會考慮學生和老人的負擔。環保團體擔心隧道影響地下水，要求公布評估報告的全文。
train	新的铁路线将在明年开通，从省会到边境只需要两个小时。铁路局表示，沿线十一个车站已经完工，轨道测试进展顺利。票价还没有确定，不过负责人强调会考虑学生和老人的负担。环保团体担心隧道影响地下水，要求公布评估报告的全文。
garden	學校後面的荒地被改成了菜園，每個班級負責一塊。孩子們學會了鬆土、澆水、捉蟲，還記錄每週的氣溫和雨量。收穫的蘿蔔和豆莢送給附近的養老院，剩下的拿到義賣會上。校長說，這比課本裡的圖畫更能讓他們明白糧食是怎麼來的。
garden	学校后面的荒地被改成了菜园，每个班级负责一块。孩子们学会了松土、浇水、捉虫，还记录每周的气温和雨量。收获的萝卜和豆荚送给附近的养老院，剩下的拿到义卖会上。校长说，这比课本里的图画更能让他们明白粮食是怎么来的。
watch	父親留下的懷錶已經停了二十年。鐘錶匠打開後蓋，說發條斷了，齒輪卻完好無損。他從抽屜裡找出一根舊發條，磨短了半寸才裝得進去。當指針重新走動時，屋裡安靜得只剩下滴答聲，母親轉過頭去，假裝在看窗外的雲。
watch	父亲留下的怀表已经停了二十年。钟表匠打开后盖，说发条断了，齿轮却完好无损。他从抽屉里找出一根旧发条，磨短了半寸才装得进去。当指针重新走动时，屋里安静得只剩下滴答声，母亲转过头去，假装在看窗外的云。
END
awk -F '\t' '{ printf "{\"url\":\"http://%s%d.example/\",\"text\":\"%s\"}\n", $1, NR, $2 }' texts.tsv >pages.jsonl
run "$P" fp pages.jsonl
exits "fp of both scripts" 0
cp "$tmp/out" pages.fp
is "each text has one fingerprint in both scripts" "$(column fingerprint pages.fp | uniq -c | awk '{ print $1 }' | xargs)" "2 2 2 2 2"
is "different texts have different ones" "$(column fingerprint pages.fp | sort -u | wc -l)" 5
is "the sketches are the same" "$(column sketch pages.fp | sort -u | wc -l)" 5
run "$P" match --all-pairs pages.fp
is "match pairs each text only with its other script" "$(rows "$tmp/out" | wc -l)" 5
tap_done
