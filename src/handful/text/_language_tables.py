"""Commonest words and letters of languages, counted by `benchmarks/language_guess.py`: do not edit."""

# Words, each with its share in thousandths of the words in small letters.
COMMON = {
    "cs": "na 23 v 20 je 19 a 19 se 15 za 14 o 10 to 10 z 7 po 7 si 6 že 5 od 5 byla 5 do 5 má 4 s 4 jen 4 bez 3 jde 3 i 3 k 3 u 3 až 2 proběhla 2 barva 2 by 2 proto 2 mezi 2 jako 2 zimní 2",  # noqa: E501
    "da": "i 42 på 35 er 34 og 28 ikke 20 til 19 jeg 17 en 16 det 16 har 14 min 14 så 13 for 12 der 11 ved 11 med 11 fra 10 den 9 af 9 kan 8 som 8 at 8 igen 7 skal 7 vi 7 kun 6 mig 6 du 5 var 5 alle 5 under 5 stadig 4 lige 4 hele 4 efter 4 et 4 siden 4 men 4 to 3 fik 3",  # noqa: E501
    "de": "der 44 die 29 von 25 in 24 mit 22 auf 20 und 18 im 15 am 14 den 14 das 14 nicht 13 an 12 ein 11 hat 10 nach 10 aus 10 ist 9 um 9 bei 9 dem 9 sich 8 eine 8 zu 8 für 7 nur 7 einem 6 ab 6 des 6 noch 5 wird 5 einen 5 als 5 seit 5 vor 5 vom 4 bitte 4 ich 4 wieder 4 kein 4",  # noqa: E501
    "en": "the 62 a 29 and 26 in 25 of 23 to 18 is 16 on 14 for 14 at 12 it 10 with 10 was 9 from 8 by 8 my 6 that 6 not 6 has 5 you 5 i 4 one 4 's 4 no 4 as 4 are 4 be 3 me 3 so 3 have 3 two 3 this 3 had 3 out 3 an 3 all 3 up 2 were 2 or 2 we 2",  # noqa: E501
    "es": "de 90 el 42 la 40 en 38 a 30 y 20 del 15 que 15 se 15 por 13 con 13 un 11 no 10 los 10 las 9 para 7 al 6 le 6 una 6 me 6 lo 5 su 4 sin 4 es 3 tres 3 te 3 desde 3 dos 3 hasta 3 mi 2 qué 2 más 2 años 2 fue 2 contra 2 vez 2 o 2 meses 2 hoy 2 días 2",  # noqa: E501
    "fi": "on 35 ja 34 mutta 9 ei 8 joka 7 ennen 7 oli 6 kun 5 eikä 5 myös 5 ensi 5 kolme 5 enää 5 vuoksi 4 kaikki 4 loppuun 4 yli 4 kaksi 4 saa 4 viime 4 vaikka 4 se 4 vaatii 4 vain 4 takia 2 ovat 2 jälleen 2 remontin 2 vielä 2 heti 2 kymmenen 2 vuoden 2 jälkeen 2 naapurin 2 ilman 2 keväällä 2 muuttaa 2 aivan 2 kuin 2 hänen 2",  # noqa: E501
    "fr": "de 53 à 39 la 36 le 23 l' 19 du 17 en 16 d' 15 a 14 est 13 au 13 un 12 et 12 par 10 les 9 des 9 une 9 dans 7 pour 7 sur 7 pas 5 on 5 que 5 son 5 s' 4 avec 4 deux 4 qui 3 vers 3 aux 3 n' 3 été 3 c' 3 ce 3 sous 3 sans 3 minutes 3 euros 3 ai 2 sont 2",  # noqa: E501
    "hu": "a 147 az 24 is 13 nem 12 volt 9 el 8 és 8 két 6 de 6 hogy 6 csak 5 című 5 új 4 néni 4 mert 4 tüzet 3 szerdán 3 miatt 3 lesz 3 egy 3 birka 3 össze 3 ki 3 lett 3 falu 3 le 3 mellett 3 fölött 3 még 3 idén 3",  # noqa: E501
    "id": "di 39 dari 13 pada 11 masih 8 ini 8 yang 8 dan 8 ke 5 air 5 atas 4 hujan 4 sebelum 3 karang 2 hari 2 tebing 2 tiap 2 jam 2 malam 2 dingin 2 perlu 2 terima 2 kasih 2 penting 2 nelayan 2 asap 2 kebun 2 lalu 2",  # noqa: E501
    "it": "di 43 il 34 a 25 la 19 ha 19 un 17 è 17 e 16 euro 15 da 14 in 14 per 14 del 12 al 12 che 11 lo 10 non 9 l' 8 si 7 della 7 le 6 ma 6 dei 6 due 6 se 5 ci 4 una 4 con 4 sul 3 alla 3 mi 3 più 3 dell' 3 ieri 3 ancora 3 me 3 anche 3 tutto 3 pure 3 passa 3",  # noqa: E501
    "nb": "på 53 i 47 til 34 og 26 er 24 det 18 fra 17 med 16 en 12 før 9 etter 9 for 9 igjen 8 om 8 går 7 må 7 ved 7 ikke 7 var 7 av 6 at 6 å 6 men 6 som 6 har 5 to 5 den 5 grunn 4 gikk 4 så 4 blir 4 ser 4 første 4 inn 4 opp 4 ble 4 dag 3 fire 3 tett 3 ta 3",  # noqa: E501
    "nl": "de 81 van 46 in 31 het 26 en 21 een 21 op 17 voor 14 met 14 te 13 is 12 aan 11 uit 10 naar 8 dat 8 uur 7 wordt 7 zijn 7 nog 6 bij 6 om 5 niet 5 heer 5 door 5 tot 4 worden 4 hebben 4 heeft 4 twee 4 over 3 jaar 3 per 3 maakt 3 ligt 3 mevrouw 2 vraagt 2 na 2 wenst 2 geen 2 dit 2",  # noqa: E501
    "pl": "z 48 w 43 na 32 do 29 i 18 nie 16 się 16 o 14 za 10 przez 9 przy 8 od 6 że 5 a 5 po 5 dwa 4 także 4 bo 4 tylko 4 miał 3 godziny 3 ale 3 bez 3 nas 2 mówi 2 całą 2 wodę 2 między 2 zamknięty 2 drugi 2 miejsce 2 drogę 2 ruch 2 temu 2 pół 2 czwartej 2 dzieci 2 dwadzieścia 2",  # noqa: E501
    "pt": "de 53 a 33 o 28 com 21 do 21 na 18 em 16 da 16 e 16 no 13 por 13 não 12 é 9 que 9 sem 6 para 6 ta 5 dia 5 se 5 mais 4 só 4 tem 4 até 4 minha 3 hoje 3 kg 3 um 3 pra 3 meu 3 ficou 3 mas 3 as 2 semana 2 faz 2 já 2 quem 2 à 2 ele 2 levar 2 alguém 2",  # noqa: E501
    "ro": "la 52 de 42 cu 20 pe 19 a 16 nu 14 mai 13 e 12 din 7 fără 7 o 6 are 6 se 5 ori 4 ani 3 ea 2 zile 2 bun 2 ia 2 azi 2 loc 2 prin 2 al 2 ei 2 nimic 2 cere 2 viitoare 2 luni 2",  # noqa: E501
    "sv": "i 37 på 35 och 26 för 16 till 16 en 13 har 13 från 12 med 11 som 10 att 10 är 10 vid 10 om 9 inte 9 efter 9 av 9 hon 9 sedan 8 men 8 före 7 vill 7 det 7 får 6 sig 6 så 6 den 6 två 6 första 5 upp 4 när 4 ha 4 enligt 4 går 4 ska 4 midnatt 3 blir 3 under 3 trots 3 fick 3",  # noqa: E501
    "sw": "ya 57 na 22 kwa 18 ni 15 wa 15 kwenye 13 la 11 za 9 leo 8 tu 8 cha 7 sana 6 kila 6 yangu 6 mbili 5 hata 5 tena 5 tatu 5 nne 5 usiku 5 wiki 5 si 4 saa 4 simu 4 asubuhi 4 kweli 4 ana 4 mara 4 huku 4 hapa 4 wangu 4 vizuri 4 bado 4 kuliko 4 hiyo 4 jua 2 nini 2 manyoya 2 duka 2 jirani 2",  # noqa: E501
    "tr": "çıktı 10 var 7 ama 7 için 7 yok 7 geldi 5 kabul 5 gelen 5 yanlış 4 dün 4 iade 4 çok 4 böyle 3 kimse 3 hafta 3 pazartesi 3 göre 3 müşteri 3 dk 3 mont 3 güzel 3 mavi 3 üç 3 aynı 3 saat 3 sorun 3",  # noqa: E501
    "vi": "lại 10 bị 8 người 8 ở 7 công 7 sáng 6 máy 6 chỉ 6 khách 6 mới 6 qua 6 được 5 còn 5 về 5 cho 5 gần 5 làm 5 hết 5 mất 5 nay 4 kho 4 của 4 trả 4 cắt 4 có 4 hàng 4 nửa 4 không 4 đầu 4 đường 4 một 4 tháng 4 ra 3 đã 3 kéo 3 số 3 trước 3 vì 3 sang 3 nhớ 3",  # noqa: E501
    "bg": "на 65 от 36 и 24 в 23 с 22 за 20 не 15 се 11 до 11 при 11 а 9 да 8 по 8 е 7 през 7 вода 4 само 4 беше 4 като 3 четири 3 година 3 дни 3 още 2 даде 2 младите 2",  # noqa: E501
    "ru": "в 38 на 25 и 18 с 17 не 14 по 11 за 9 из 8 у 6 до 6 после 5 что 5 а 4 рублей 4 через 3 под 3 для 3 от 3 как 3 см 3 тыс 2 это 2 уже 2 второй 2 тысяч 2 только 2 его 2 ч 2 масло 2 но 2 дело 2 просит 2 этого 2 нет 2 со 2 о 2 чем 2 руб 2 года 2 почти 2",  # noqa: E501
    "uk": "на 38 і 26 не 18 у 16 в 16 до 13 з 11 за 10 від 7 про 6 має 5 п'ять 5 два 5 дві 5 що 4 для 4 через 4 тоді 2 лист 2 пані 2 тепер 2 бо 2 ще 2 тричі 2 без 2",  # noqa: E501
    "ar": "في 29 من 25 على 17 إلى 15 عن 8 أن 6 لا 6 بـ 6 دينار 5 بعد 5 ما 4 ألف 4 مع 4 المحكمة 4 جنيه 3 إن 3 ولا 3 شركة 3 كل 3 بين 3 الطريق 3 حتى 3 بأن 2 قد 2 درهم 2 قبل 2 ريال 2 مليون 2 عند 2 رقم 2 القاهرة 2 المدني 2 دولار 2 غير 2 يوم 2 وزارة 2 برد 2 خلال 2 المياه 2 هذا 2",  # noqa: E501
    "fa": "در 28 با 26 و 23 به 22 را 21 از 20 است 18 دو 11 کرد 11 شد 8 که 8 نیست 5 تا 5 روی 5 سال 5 شده 5 داد 5 پس 4 بود 4 آب 4 سه 4 قیمت 4 حاشیه 4 دیگر 4 بیست 4 هنوز 4 چهار 3 متر 3 گفت 3 ماه 3 حالا 3 پرداخت 3 ندارد 3 کنار 3 انبار 3 کاشان 2 نوشته 2 اما 2 هرات 2 اول 2",  # noqa: E501
    "ur": "کے 48 کی 47 میں 43 سے 26 ہے 24 کا 18 نے 15 گیا 13 پر 11 کیا 8 گئی 8 کو 8 اور 6 ہو 5 ہیں 5 گئے 5 ملی 5 نہیں 4 کہ 4 لیے 4 ایک 3 پانی 3 اس 3 بھی 3 رہے 3 ہوئی 3 تک 2 زیادہ 2 کر 2 ملا 2 پی 2 گئیں 2 مٹی 2 زیر 2 لاہور 2 پچھلے 2 چار 2 رہا 2 کمزور 2 ذریعے 2",  # noqa: E501
}
# The share of words, in thousandths, that have one of these letters; in Latin script those beyond a to z,
# in others those that no other language of the script has.
LETTERS = {
    "cs": (507, "áéíúýčěňřšťůž"),
    "da": (158, "åæø"),
    "de": (75, "ßäöü"),
    "es": (127, "áéíñóú"),
    "fi": (225, "äö"),
    "fr": (186, "àâçèéêîôû"),
    "hu": (479, "áéíóöúüőű"),
    "it": (38, "àèìòù"),
    "nb": (173, "åæø"),
    "pl": (324, "óąćęłńśźż"),
    "pt": (124, "ºàáâãçéêíóôú"),
    "ro": (141, "âîășț"),
    "sv": (273, "äåö"),
    "tr": (424, "âçöüğış"),
    "vi": (851, "àáâãèéêìíòóôùúýăđĩũơưạảấầẩẫậắằặẹếềểễệỉịọỏốồổỗộớờởợụủứừửữựỷ"),
    "ru": (136, "ыэё"),
    "uk": (351, "єії"),
    "ar": (592, "ءأإةـكىي"),
    "ur": (477, "ٹڈڑںھہے"),
}
